// What the engine has in common with tasks is a part of this module, so that a program of tasks imports nothing else.

@_exported public import struct TallyEngine.CalendarDay
@_exported public import struct TallyEngine.ChangeID
@_exported public import struct TallyEngine.CompactionSummary
@_exported public import enum TallyEngine.Durability
@_exported public import struct TallyEngine.OffsetTimestamp
@_exported public import struct TallyEngine.ReaderInformation
@_exported public import struct TallyEngine.StoreConfiguration
@_exported public import struct TallyEngine.StoreObservation
@_exported public import struct TallyEngine.StorePosition
@_exported public import struct TallyEngine.TallyError
@_exported public import protocol TallyEngine.TextCodable
@_exported public import struct TallyEngine.TextPosition
@_exported public import struct TallyEngine.Timestamp
@_exported public import enum TallyEngine.UUIDv7
@_exported public import class TallyEngine.UUIDv7Generator
@_exported public import struct TallyEngine.WallTime
