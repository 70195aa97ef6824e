#!/bin/sh
# Each fuzz target on its corpus, whole and cut at every byte.
. "${srcdir:?}"/tests/lib.sh
for target in args bwrap config kafel mountinfo nsjail nsjail_args policy profile; do
	ok "$target" "$top_builddir/tests/fuzz/fuzz_$target" "$srcdir/tests/fuzz/corpus/$target"/*
done
done_testing
