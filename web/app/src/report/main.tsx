// The page of every report of `taut`; its data is embedded in the page.
import { render } from 'preact';
import { isDocument } from '../document/data';
import { DocumentPage } from '../document/page';
import { startTheme } from '../lib/theme';
import { setCalendar } from '../lib/time';
import { ReportPage } from './page';
import { readReport } from './data';
import '../styles/base.css';
import '../styles/parts.css';
import '../styles/figures.css';
import '../styles/report.css';
import '../styles/document.css';

const data: unknown = JSON.parse(document.getElementById('data')?.textContent ?? '');
const shown = isDocument(data) ? data : readReport(data);
setCalendar(shown.unix ? 'utc' : 'days');
document.title = shown.title || document.title;
startTheme();
const host = document.getElementById('app');
if (host) render(isDocument(shown) ? <DocumentPage document={shown} /> : <ReportPage report={shown} />, host);
