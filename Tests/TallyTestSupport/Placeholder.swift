/// A placeholder replaced by the model and the invariants.
