import type { Static } from 'typebox'
import { formatUs } from '../core/time.ts'
import * as s from '../requests/http/schema.ts'
import { alertRuleSchema, tagsSchema } from '../streams/data-streams/definition-schemas.ts'
import { type FleetRule, ruleIdOnStreams } from './fleet-rule.ts'

const contentFields = {
  name: { ...s.text, minLength: 1, maxLength: 200 },
  vaultId: { ...s.nullable(s.uuid), description: 'Of streams in this vault.' },
  tags: { ...tagsSchema, description: 'Of streams with all of these tags.' },
  rule: alertRuleSchema,
}

const shown = {
  alertRuleId: s.uuid,
  ruleId: { ...s.text, description: 'The rule of its alerts.' },
  ...contentFields,
  createdAt: s.dateTime,
  updatedAt: s.dateTime,
}

export const fleetRuleSchema = s.component('FleetAlertRule', s.record(shown))

const example = {
  name: 'boilers that are too hot',
  tags: { kind: 'boiler' },
  rule: { field: 'temperature', operator: '>', threshold: 80, for: '5m' },
}

export const newFleetRuleSchema = s.describedOnly(
  s.component('NewFleetAlertRule', {
    ...s.record(contentFields, { optional: ['vaultId', 'tags'] }),
    description: 'With vaultId, tags, or both. The rule has no id of its own.',
    examples: [example],
  }),
)

export const fleetRuleChangeSchema = s.describedOnly(
  s.component('FleetAlertRuleChange', {
    ...s.partial(contentFields),
    description: 'What is not sent stays; null takes vaultId or tags away.',
    examples: [{ rule: { field: 'temperature', operator: '>', threshold: 85 } }],
  }),
)

export const fleetRuleWithStreamsSchema = s.record({
  ...shown,
  streams: s.record({
    matching: { ...s.count, description: 'Streams that it is for.' },
    pending: { ...s.count, description: 'Of them, those still to be compared since a change.' },
    leftOut: { ...s.count, description: 'Of them, those that cannot have it.' },
  }),
  leftOut: s.listOf(s.record({ streamId: s.uuid, reason: s.text }), {
    description: 'At most 100 of those that cannot have it, and why.',
  }),
})

export function fleetRuleBody(rule: FleetRule): Static<typeof fleetRuleSchema> {
  const { id, name, vaultId, tags, rule: content, createdAtUs, updatedAtUs } = rule
  return {
    alertRuleId: id,
    ruleId: ruleIdOnStreams(id),
    name,
    vaultId: vaultId ?? null,
    tags,
    rule: content,
    createdAt: formatUs(createdAtUs),
    updatedAt: formatUs(updatedAtUs),
  }
}
