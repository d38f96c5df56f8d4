import NIOCore
import NIOHTTPTypes

/// Closes a connection whose request takes too long to arrive, however steadily its bytes drip.
///
/// The idle timeout of the server closes silent connections and those that do not finish a header.
final class BodyTimeLimit: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart
  typealias InboundOut = HTTPRequestPart

  private let limit: TimeAmount
  // Used on the event loop of the channel alone.
  private var timeout: Scheduled<Void>?

  init(_ limit: TimeAmount) { self.limit = limit }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head:
      let channel = context.channel
      timeout = context.eventLoop.scheduleTask(in: limit) { channel.close(promise: nil) }
    case .body: break
    case .end: cancel()
    }
    context.fireChannelRead(data)
  }

  func channelInactive(context: ChannelHandlerContext) {
    cancel()
    context.fireChannelInactive()
  }

  func handlerRemoved(context: ChannelHandlerContext) { cancel() }

  private func cancel() {
    timeout?.cancel()
    timeout = nil
  }
}
