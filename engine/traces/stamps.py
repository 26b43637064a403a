"""Moments as whole nanoseconds: a float of seconds since 1970 keeps only some hundreds of them."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation

from engine.traces.row import RowError

SECOND = 10**9
MILLISECOND = 10**6
LATEST = 10**15  # of any unit; larger numbers are no times
EPOCH = datetime(1970, 1, 1)
DATE = re.compile(
    r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:\.(\d{1,9})\d*)?\s*(?:Z|UTC|([+-])(\d\d):?(\d\d))?"
)


def from_number(value: object, unit: int) -> int:
    """A number in some unit, as nanoseconds.

    Args:
        unit: nanoseconds in one.

    Raises:
        RowError: it is no finite number of at least 0.
    """
    try:
        number = Decimal(str(value).strip())
    except InvalidOperation:
        raise RowError("whose timestamp is no number") from None
    if isinstance(value, bool) or not number.is_finite() or not 0 <= number < LATEST:
        raise RowError("whose timestamp is no number")
    return int(number * unit)


def from_date(value: object) -> int:
    """A date with a time of day, as nanoseconds since 1970; without a zone it counts as UTC.

    Raises:
        RowError: it is none.
    """
    found = DATE.fullmatch(str(value).strip())
    if not found:
        raise RowError("whose timestamp is no date")
    day, time, fraction, sign, hours, minutes = found.groups()
    try:
        moment = datetime.fromisoformat(f"{day} {time}")
    except ValueError:
        raise RowError("whose timestamp is no date") from None
    if sign:
        offset = timedelta(hours=int(hours), minutes=int(minutes))
        moment = moment - offset if sign == "+" else moment + offset
    since = moment - EPOCH
    return (since.days * 86_400 + since.seconds) * SECOND + int((fraction or "").ljust(9, "0"))
