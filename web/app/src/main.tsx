import { render } from 'preact';
import { App } from './app';
import { returnToPlace } from './api/access';
import { live } from './api/live';
import { startTheme } from './lib/theme';
import './styles/base.css';
import './styles/frame.css';
import './styles/parts.css';
import './styles/lists.css';
import './styles/pages.css';
import './styles/jobs.css';
import './styles/figures.css';
import './styles/job.css';

startTheme();
returnToPlace();
live.start();
const host = document.getElementById('app');
if (host) render(<App />, host);
