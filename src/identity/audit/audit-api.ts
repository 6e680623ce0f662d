import type { Static } from 'typebox'
import { type AuditEntry, auditActions } from '../../access/audit/audit-log.ts'
import { formatUs } from '../../core/time.ts'
import * as s from '../../requests/http/schema.ts'

const textOrNull = s.nullable(s.text)
const action = s.choice(auditActions)

export const auditEntrySchema = s.component(
  'AuditEntry',
  s.record({
    id: s.uuid,
    timestamp: s.dateTime,
    action,
    actorUserId: textOrNull,
    actorKeyId: textOrNull,
    subjectId: textOrNull,
    userId: { ...textOrNull, description: 'The user that it is about.' },
    address: textOrNull,
    details: s.typed<AuditEntry['details']>({
      type: 'object',
      additionalProperties: true,
      examples: [{}],
    }),
  }),
)

export const auditQuery = s.query({ ...s.cursorQuery, userId: s.text, action })

export function entryBody(entry: AuditEntry): Static<typeof auditEntrySchema> {
  return {
    id: entry.id,
    timestamp: formatUs(entry.createdAtUs),
    action: entry.action,
    actorUserId: entry.actor?.userId ?? null,
    actorKeyId: entry.actor?.apiKeyId ?? null,
    subjectId: entry.subjectId ?? null,
    userId: entry.userId ?? null,
    address: entry.address ?? null,
    details: entry.details,
  }
}
