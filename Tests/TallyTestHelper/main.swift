// Runs one act in another process for the tests of Tally.

import TestSupport

HelperAct.runFromArguments { try $0.run() }
