#pragma once

/// Begins to count the instructions of a piece of work, where callgrind runs this program, and names its beginning to a
/// program that lists system calls; otherwise it costs next to nothing.
void counting_begin(const char *_Nonnull name);

/// Ends what `counting_begin` has begun; callgrind writes what it has counted under the name.
void counting_end(const char *_Nonnull name);
