"""One HTML page that shows a reconstruction and says how far to trust it."""

from pgt.report.contents import Readings as Readings
from pgt.report.contents import ReportData as ReportData
from pgt.report.contents import Tables as Tables
from pgt.report.page import write_report as write_report
