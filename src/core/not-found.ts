import { DomainError } from './errors.ts'

/** What to do about each kind of thing that does not exist: where its ids are listed, mostly. */
export const notFoundRemedies = {
  address: inList('GET /notifications/email-configs'),
  alert: inList('GET /alerts'),
  'alert rule': inList('GET /alert-rules'),
  asset: inList('GET /streams/{streamId}/assets'),
  'asset stream': inList('GET /streams', 'asked with x-api-key and x-api-secret'),
  attachment: inList('GET /attachments'),
  backup: inList('GET /backups'),
  'console session': inList('GET /console/sessions'),
  credential: inList('GET /users/{userId}'),
  delivery: inList('GET /notifications/webhooks/{configId}/deliveries'),
  'deleted stream':
    'Compare the id with that in the answer to DELETE /streams/{streamId}; streams that are not deleted are in GET /streams.',
  device: inList('GET /devices'),
  entity: inList('GET /users/{userId}'),
  export: inList('GET /exports', 'which has those of the last 7 days'),
  favorite: inList('GET /users/{userId}/favorites'),
  file: 'Read GET /attachments/{attachmentId}: files are numbered from 0 in the order in which it lists them.',
  'file of the export': inList('GET /exports/{exportId}', 'under files'),
  fleet: inList('GET /fleets'),
  'fleet device': inList('GET /fleets/{fleetId}/devices', 'by the name that its messages have'),
  import: inList('GET /imports', 'which has those of the last 7 days'),
  key: inList('GET /keys'),
  'MQTT session': inList('GET /mqtt/sessions'),
  notification: inList('GET /notifications/in-app'),
  permission:
    'Compare the id with those of GET /vaults/{vaultId}/permissions or GET /streams/{streamId}/permissions; a permission that has ended or was withdrawn is not listed.',
  'provisioning key': inList('GET /vaults/{vaultId}/provisioning-keys'),
  'quarantine entry': inList(
    'GET /streams/{streamId}/quarantine',
    'which does not have entries that were accepted later, deleted, or older than their retention',
  ),
  signature: inList('GET /attachments/{attachmentId}/signatures'),
  stream: inList('GET /streams'),
  template: inList('GET /templates'),
  user: 'Use your own id, which GET /users says; a key with platform:admin finds other users with GET /platform/users.',
  vault: inList('GET /vaults'),
  webhook: inList('GET /webhooks'),
} as const

/** A kind of thing that an id can stand for. */
export type Sought = keyof typeof notFoundRemedies

/**
 * `not_found` for an id that the caller can see nothing under: the remedy says where the right ones are.
 *
 * @param what the kind, in the words of the message
 */
export function notFound(what: Sought, id: string): DomainError {
  return new DomainError('not_found', `no ${what} ${id}`, { remedy: notFoundRemedies[what] })
}

function inList(operation: string, note?: string): string {
  const list = note === undefined ? operation : `${operation}, ${note}`
  return `Compare the id with those of ${list}. Ids of another user are not found: GET /users says whose key is used.`
}
