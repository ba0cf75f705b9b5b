"""The benchmarks: ours beside a reference, in the same run. Source: DESIGN "The command line"."""
