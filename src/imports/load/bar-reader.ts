// A reader process that makes batches of bars too.
import { readHere, serveReadings } from '../read/reader-service.ts';
import { type BatchesAsked, batchFrame, readBatches, SpareArrays } from './bar-batches.ts';

const spare = new SpareArrays();

serveReadings<BatchesAsked>({
  async *batches({ reading }) {
    for await (const batch of readBatches(
      { ...reading, columns: new Map(reading.columns) },
      spare,
      readHere,
    )) {
      yield batchFrame(batch);
      spare.give(batch.arrays);
    }
  },
});
