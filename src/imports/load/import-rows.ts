import type { Zone } from '../../market/calendar/zone.ts';
import { unlessDamaged } from '../../store/damage.ts';
import { spokenName } from '../../store/schema/dataset.ts';
import type { FileDataset } from '../../store/schema/index.ts';
import { constantProblem, type FieldSources, findSources } from '../map/column-mapping.ts';
import { namesOf } from '../map/field-names.ts';
import { instantRule } from '../map/instant-rule.ts';
import { FileProblem, unfitProblem } from '../read/file-problem.ts';
import type { ImportGroup } from './import-group.ts';
import type { Particulars } from './particulars.ts';
import { type PendingImport, withRefusedRows } from './refused-rows.ts';
import { Replacement } from './replacement.ts';
import { RowPass, type RowRules } from './row-pass.ts';
import { type ImportRequest, runImport, sourceOf } from './run.ts';

/** Imports one file of rows. @throws FileProblem where nothing of it can be imported */
export async function importRows(
  group: ImportGroup,
  request: ImportRequest,
  dataset: FileDataset,
  particulars: Particulars,
): Promise<PendingImport> {
  const { file } = request;
  // Rules of local times remember the row before.
  const rulesWith = (special: Particulars): RowRules => ({
    dataset,
    particulars: special,
    cells: cellRules(dataset, request.zone ?? null),
  });
  const mapping = findSources(
    file.name,
    file.header,
    namesOf(dataset.file.fields),
    file.mapping,
    request.flags,
  );
  checkFlags(request.flags, dataset);
  const source = sourceOf(request);
  if (request.replace !== undefined && source === null)
    throw unfitProblem(
      file.name,
      '--replace replaces what the same source brought before: say which, by --source TEXT',
    );
  checkConstants(mapping, rulesWith(particulars), request);
  return withRefusedRows(request, (refused) =>
    runImport(group, request, spokenName(dataset), async (writer, run) => {
      const replacement =
        request.replace === undefined
          ? null
          : new Replacement(writer, dataset, { runId: run.runId, source: source! }, request.replace);
      const passWith = (special: Particulars): RowPass =>
        new RowPass(writer, run, rulesWith(special), mapping, file, refused, replacement);
      const special = (await particulars.ofFile?.(passWith(particulars).validRows(), writer)) ?? particulars;
      const pass = passWith(special);
      for await (const chunk of pass.chunks()) {
        await pass.add(chunk);
        request.onRows?.(pass.rowsRead);
      }
      if (pass.rowsRead === 0 && file.rowNumbers === undefined)
        throw new FileProblem('content', `${file.name}: has no rows`);
      await pass.held.write(writer, run.runId, dataset);
      const removed = refused.count === 0 ? await replacement?.finish(pass.holds) : undefined;
      Object.assign(pass.findings, await unlessDamaged(special.findingsAfter?.(writer)));
      return { result: { ...pass.result(), ...removed } };
    }),
  );
}

const cellRules = ({ file: { fields } }: FileDataset, zone: Zone | null): RowRules['cells'] =>
  Object.fromEntries(
    Object.entries(fields).map(([name, { rule }]) => [name, 'unit' in rule ? instantRule(rule, zone) : rule]),
  );

/** Refuses a field that the dataset does not have. */
function checkFlags(flags: ReadonlyMap<string, string>, dataset: FileDataset): void {
  const stray = [...flags.keys()].find((field) => !Object.hasOwn(dataset.file.fields, field));
  if (stray !== undefined)
    throw new FileProblem('usage', `${spokenName(dataset)} have no ${stray} to be given for the whole file`);
}

/** Refuses a value for the whole file that no row could have. */
function checkConstants(
  { values }: FieldSources,
  { dataset, cells }: RowRules,
  { file, flags }: ImportRequest,
): void {
  for (const [field, value] of values) {
    const rule = cells[field];
    if (rule !== undefined && rule.parse(value) === undefined)
      throw constantProblem(
        file,
        flags,
        { field, flag: dataset.file.fields[field]!.flag },
        value,
        rule.reason,
      );
  }
}
