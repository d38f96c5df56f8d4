public import ArgumentParser
public import Tally

extension DateOrder: ExpressibleByArgument {}
