"""The proleptic Gregorian calendar in integers, for years far beyond Python's 1 to 9999.

Units: a day number counts from 1970-01-01, which is 0; before it is negative.
Source: DMN 1.5 section 10.3.2.3.4 (years have up to nine digits), ISO 8601.
"""

from __future__ import annotations

YEAR_MAX = 999_999_999
DAYS_PER_CYCLE = 146_097  # of 400 years
YEARS_PER_CYCLE = 400
_DAYS_BEFORE_EPOCH = 719_468  # from 0000-03-01 to 1970-01-01
_MONTH_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)


def is_leap_year(year: int) -> bool:
    """Tell whether February of the year has 29 days."""
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def days_in_month(year: int, month: int) -> int:
    """Count the days of a month (1 to 12)."""
    return 29 if month == 2 and is_leap_year(year) else _MONTH_DAYS[month - 1]


def is_date(year: int, month: int, day: int) -> bool:
    """Tell whether the three make a date that FEEL can hold."""
    if not (-YEAR_MAX <= year <= YEAR_MAX and 1 <= month <= 12):
        return False
    return 1 <= day <= days_in_month(year, month)


def day_number(year: int, month: int, day: int) -> int:
    """Number a date: the year is taken to begin in March, so that a leap day comes last."""
    year -= month <= 2
    cycle, year_of_cycle = divmod(year, YEARS_PER_CYCLE)
    day_of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    day_of_cycle = year_of_cycle * 365 + year_of_cycle // 4 - year_of_cycle // 100 + day_of_year
    return cycle * DAYS_PER_CYCLE + day_of_cycle - _DAYS_BEFORE_EPOCH


def date_of(number: int) -> tuple[int, int, int]:
    """Give year, month and day of a day number."""
    cycle, day_of_cycle = divmod(number + _DAYS_BEFORE_EPOCH, DAYS_PER_CYCLE)
    leap_days = day_of_cycle // 1460 - day_of_cycle // 36524 + day_of_cycle // 146096
    year_of_cycle = (day_of_cycle - leap_days) // 365
    day_of_year = day_of_cycle - (365 * year_of_cycle + year_of_cycle // 4 - year_of_cycle // 100)
    month_from_march = (5 * day_of_year + 2) // 153
    day = day_of_year - (153 * month_from_march + 2) // 5 + 1
    month = (month_from_march + 2) % 12 + 1
    return cycle * YEARS_PER_CYCLE + year_of_cycle + (month <= 2), month, day


def weekday(number: int) -> int:
    """Give the day of the week of a day number, Monday 1 to Sunday 7."""
    return (number + 3) % 7 + 1


def week_of_year(year: int, month: int, day: int) -> int:
    """Give the ISO 8601 week, which belongs to the year of its Thursday."""
    number = day_number(year, month, day)
    thursday = number - weekday(number) + 4
    first = day_number(date_of(thursday)[0], 1, 1)
    return (thursday - first) // 7 + 1


def add_months(year: int, month: int, day: int, months: int) -> tuple[int, int, int]:
    """Move a date by whole months; a day the new month lacks becomes its last one."""
    years, month_from_zero = divmod(year * 12 + month - 1 + months, 12)
    return years, month_from_zero + 1, min(day, days_in_month(years, month_from_zero + 1))
