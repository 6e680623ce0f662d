import type { Static } from 'typebox'
import { invalidParameter } from '../../core/errors.ts'
import type { UserId } from '../../core/ids.ts'
import { formatUs } from '../../core/time.ts'
import { settledRange } from '../../requests/http/asked-range.ts'
import { parseAggregation, zoneParameter } from '../queries/aggregation.ts'
import { type KnownFields, parseFields, unknownField } from '../queries/fields.ts'
import type { QueriedStream } from '../queries/queried-streams.ts'
import { streamsMax } from '../queries/query-api.ts'
import { type SelectionNeeds, selectedStreams } from '../queries/selected-streams.ts'
import { rangeBody } from '../queries/time-range.ts'
import { assertWindowField, assertWindows } from '../queries/window-query.ts'
import type { newExportSchema } from './export-api.ts'
import type { ExportRequest } from './export-job.ts'

/**
 * Readings may claim a time so far ahead of the server (decisions.md#times-of-readings): they are
 * stored by now all the same.
 */
const aheadUs = 5 * 60 * 1_000_000

/**
 * What a body asks for: which streams that is, and up to when, is decided now.
 *
 * @throws DomainError `invalid_request`, `unsupported_query`, `not_found`, `too_many_points`
 */
export async function exportRequest(
  needs: SelectionNeeds,
  { userId, nowUs }: { readonly userId: UserId; readonly nowUs: number },
  body: Static<typeof newExportSchema>,
): Promise<ExportRequest> {
  const { aggregation = 'raw', tz, format, fields } = body
  const asked = settledRange(body, nowUs)
  const end = asked.end ?? formatUs(nowUs + aheadUs)
  const shown = rangeBody({ start: asked.start, end })
  const zone = zoneParameter(tz)
  const isOfWindows = aggregation === 'window'
  const isAggregated = !isOfWindows && parseAggregation(aggregation, zone) !== undefined
  const streams = await selectedStreams(needs, userId, body, streamsMax)
  if (streams.length === 0) throw invalidParameter('streamIds', 'and the like: no stream meets all')
  if (isOfWindows) {
    assertWindows(await needs.queried.anyHasWindows(streams))
    const known = new Set(streams.flatMap((stream) => [...stream.fields.keys()]))
    for (const name of fields ?? []) assertWindowField(name, known)
  } else for (const key of fields ?? []) assertField(key, streams, isAggregated)
  return {
    streamIds: streams.map(({ id }) => id as ExportRequest['streamIds'][number]).sort(),
    start: shown.start,
    end: shown.end ?? end,
    format,
    aggregation,
    tz: zone,
    ...(fields && { fields: [...new Set(fields)] }),
  }
}

/**
 * At least one stream has to have the field, and it has to make sense for each that has it.
 *
 * @throws DomainError `invalid_request`, `unsupported_query`
 */
function assertField(key: string, streams: readonly QueriedStream[], isAggregated: boolean): void {
  const [name = '', suffix] = key.split(':')
  const having = streams.filter(({ fields }) => fields.has(name))
  if (having.length === 0) throw unknownField(key)
  if (!isAggregated && suffix !== undefined) {
    throw invalidParameter('fields', `'${key}': functions need an aggregation other than raw`)
  }
  if (isAggregated)
    for (const { fields } of having) parseFields([key], fields satisfies KnownFields)
}
