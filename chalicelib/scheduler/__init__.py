"""What a scheduled job does next: schedules, loop, retry, pool, overlap and alarms, all pure.

Source: contracts/scheduled-jobs.md (Z1 to Z102).
"""
