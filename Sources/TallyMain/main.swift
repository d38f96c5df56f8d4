import Foundation
import TallyCommands

TallyCommandLine.prepareProcess()
exit(TallyCommandLine.run(.ofProcess()))
