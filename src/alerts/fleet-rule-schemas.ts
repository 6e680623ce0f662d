import {
  component,
  count,
  cursorListOf,
  cursorQuery,
  dateTime,
  describedOnly,
  idParams,
  keyHeaders,
  listOf,
  noContent,
  nullable,
  partial,
  query,
  record,
  text,
  uuid,
} from '../requests/http/schema.ts'
import { alertRuleSchema, tagsSchema } from '../streams/data-streams/definition-schemas.ts'

const tags = ['Alerts'] as const
const params = idParams('alertRuleId')

const content = {
  name: { ...text, minLength: 1, maxLength: 200 },
  vaultId: { ...nullable(uuid), description: 'Of streams in this vault.' },
  tags: { ...tagsSchema, description: 'Of streams with all of these tags.' },
  rule: alertRuleSchema,
}

const shown = {
  alertRuleId: uuid,
  ruleId: { ...text, description: 'The rule of its alerts.' },
  ...content,
  createdAt: dateTime,
  updatedAt: dateTime,
}

const fleetRule = component('FleetAlertRule', record(shown))

const example = {
  name: 'boilers that are too hot',
  tags: { kind: 'boiler' },
  rule: { field: 'temperature', operator: '>', threshold: 80, for: '5m' },
}

export const createFleetRule = {
  operationId: 'createAlertRule',
  summary: 'Have one alert rule for all streams of a vault, or with some tags, present and future.',
  tags,
  headers: keyHeaders,
  body: describedOnly(
    component('NewFleetAlertRule', {
      ...record(content, { optional: ['vaultId', 'tags'] }),
      description: 'With vaultId, tags, or both. The rule has no id of its own.',
      examples: [example],
    }),
  ),
  response: { 201: fleetRule },
} as const

export const listFleetRules = {
  operationId: 'listAlertRules',
  summary: "List one's own alert rules for many streams, in the order of their creation.",
  tags,
  querystring: query(cursorQuery),
  response: { 200: cursorListOf(fleetRule) },
} as const

export const readFleetRule = {
  operationId: 'readAlertRule',
  summary: 'Read an alert rule for many streams, and how its streams stand.',
  tags,
  params,
  response: {
    200: record({
      ...shown,
      streams: record({
        matching: { ...count, description: 'Streams that it is for.' },
        pending: { ...count, description: 'Of them, those still to be compared since a change.' },
        leftOut: { ...count, description: 'Of them, those that cannot have it.' },
      }),
      leftOut: listOf(record({ streamId: uuid, reason: text }), {
        description: 'At most 100 of those that cannot have it, and why.',
      }),
    }),
  },
} as const

export const changeFleetRule = {
  operationId: 'changeAlertRule',
  summary: 'Change an alert rule for many streams.',
  tags,
  params,
  body: describedOnly(
    component('FleetAlertRuleChange', {
      ...partial(content),
      description: 'What is not sent stays; null takes vaultId or tags away.',
      examples: [{ rule: { field: 'temperature', operator: '>', threshold: 85 } }],
    }),
  ),
  response: { 200: fleetRule },
} as const

export const deleteFleetRule = {
  operationId: 'deleteAlertRule',
  summary: 'Delete an alert rule for many streams, which ends its alerts.',
  tags,
  params,
  response: { 204: noContent },
} as const
