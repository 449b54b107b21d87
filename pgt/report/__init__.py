"""The report: one HTML page that shows a reconstruction and says how far to trust it.

contents     the data of a report, checked
page         the sections of the page, and its HTML
sentences    the run in sentences
charts       charts as SVG
payload      the data of the interactive maps
"""

from pgt.report.contents import Readings as Readings
from pgt.report.contents import ReportData as ReportData
from pgt.report.contents import Tables as Tables
from pgt.report.page import write_report as write_report
