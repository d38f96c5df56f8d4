import Foundation
import TallyCommands

// The commands of `tally`, which starts this program for a space at a hub.
TallyCommandLine.prepareProcess()
var invocation = Invocation.ofProcess()
invocation.hubClient = HubCommands()
exit(TallyCommandLine.run(invocation))
