select at_ms from steward.beat
