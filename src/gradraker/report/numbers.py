"""How pages write numbers."""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class NumberFormat:
    """The decimal mark, and what stands between thousands.

    Examples
    --------
    >>> from gradraker.report.numbers import NUMBER_FORMATS
    >>> NUMBER_FORMATS["de"].format_number(3.14159), NUMBER_FORMATS["de"].format_count(12345)
    ('3,142', '12.345')
    >>> NUMBER_FORMATS["si"].format_number(-0.5), NUMBER_FORMATS["si"].format_number(None)
    ('−0.5', 'none')
    """

    decimal: str
    group: str

    def format_number(self, value: float | None) -> str:
        """Return a number with four digits that count; "none" if it is missing or not finite."""
        if value is None or not math.isfinite(value):
            return "none"
        text = f"{value:.4g}".replace("-", "−")
        if "e" not in text and abs(value) >= 1000.0:
            text = f"{float(f'{value:.4g}'):,.0f}".replace("-", "−").replace(",", self.group)
            return text
        return text.replace(".", self.decimal)

    def format_count(self, value: int) -> str:
        """Return a whole number."""
        return f"{value:,}".replace(",", self.group)


NUMBER_FORMATS = {
    "si": NumberFormat(".", "\u202f"),
    "en": NumberFormat(".", ","),
    "de": NumberFormat(",", "."),
    "fr": NumberFormat(",", "\u202f"),
    "ch": NumberFormat(".", "’"),
}
