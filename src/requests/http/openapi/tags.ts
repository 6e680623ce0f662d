/** The groups of operations, in the order of the document. */
export const tags = {
  Authentication: 'Keys become tokens, and tokens are checked.',
  Console: 'Browsers that are signed in to the page at `/`.',
  Users: 'Who uses the service, with entities and credentials.',
  Keys: 'What programs and devices show who they are with.',
  Alerts: 'What rules have found in readings, and what is done about it.',
  Audit: 'Changes that matter to security.',
  Attachments: 'Files that belong to asset streams.',
  Signatures: 'Who has signed the content of attachments, and with which keys.',
  Files: 'Uploads to addresses that are their own credentials.',
  Templates: 'Reusable definitions of vaults.',
  Vaults: 'Digital twins, made from templates.',
  Favorites: 'What a user wants to find again.',
  Streams: 'Data streams for a bearer token, and asset streams for a key: records of assets.',
  'Data streams': 'Continuous flows of readings that belong to a vault.',
  Fleets: 'One definition for the data streams of many devices.',
  Devices: 'Credentials that are limited to the streams of one device.',
  Readings: 'What devices measure: pushed, read back, and kept in quarantine when refused.',
  Notifications: 'What has happened, and how users are notified of it.',
  'Exports and imports': 'Readings into files, and files into streams, in the background.',
  Webhooks: 'Endpoints that are notified of events over HTTP, and what they were sent.',
  Backups: 'Copies of the complete service, made while it runs.',
  Anchors: 'What is put on ledgers, and what that proves.',
  Operations: 'Health, metrics and this description.',
} as const

export type Tag = keyof typeof tags
