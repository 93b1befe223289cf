// A reader process that gives columns and rows, and no more.
import { serveReadings } from './reader-service.ts';

serveReadings();
