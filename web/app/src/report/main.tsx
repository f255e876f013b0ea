// The page of `taut replay --report`; its data is embedded in the page.
import { render } from 'preact';
import { startTheme } from '../lib/theme';
import { setCalendar } from '../lib/time';
import { ReportPage } from './page';
import { readReport } from './data';
import '../styles/base.css';
import '../styles/parts.css';
import '../styles/figures.css';
import '../styles/report.css';

const report = readReport(document.getElementById('data')?.textContent ?? '');
setCalendar(report.unix ? 'utc' : 'days');
document.title = report.title || document.title;
startTheme();
const host = document.getElementById('app');
if (host) render(<ReportPage report={report} />, host);
