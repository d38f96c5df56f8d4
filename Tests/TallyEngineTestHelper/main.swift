// Runs one act in another process for the tests of the engine.

import TestSupport

HelperAct.runFromArguments { try $0.run() }
