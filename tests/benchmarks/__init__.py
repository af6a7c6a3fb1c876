"""Speed and memory, as ratios against a yardstick in the same run. `make bench` runs them all."""
