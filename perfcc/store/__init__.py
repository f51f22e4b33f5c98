"""What is kept between builds: decisions, objects, outcomes, counters."""
