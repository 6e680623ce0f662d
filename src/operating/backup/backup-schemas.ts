import {
  boolean,
  component,
  count,
  cursorListOf,
  cursorQuery,
  dateTime,
  idParams,
  keyHeaders,
  listOf,
  nullable,
  query,
  record,
  text,
  uuid,
} from '../../requests/http/schema.ts'
import { backupStates } from './backup.ts'
import { backupPhases } from './backup-writer.ts'

const to = {
  ...text,
  minLength: 1,
  maxLength: 1_024,
  description:
    'An absolute path of an empty or new folder of the machine of the service, or `s3://bucket/prefix?endpoint=https://host`.',
  examples: ['/backups/2026-01-31'],
} as const

const packedFile = record({
  name: text,
  bytes: { ...count, description: 'Of the file as it lies there, packed.' },
  contentBytes: count,
  sha256: { ...text, description: 'Of the file as it lies there, hexadecimal.' },
})

const positions = record(
  { store: count, decider: count, journalFrom: count, journalTo: count },
  {
    description:
      'Offsets of the journal. All that was acknowledged before `journalTo` is in the backup.',
  },
)

const backup = component(
  'Backup',
  record({
    backupId: uuid,
    status: { ...text, enum: backupStates },
    to,
    withMasterKey: boolean,
    createdAt: dateTime,
    finishedAt: nullable(dateTime),
    progress: {
      ...nullable(
        record({
          phase: { ...text, enum: backupPhases },
          bytesDone: count,
          bytesTotal: { ...count, description: 'As far as it is known by now.' },
        }),
      ),
      description: 'Of one that is running.',
    },
    error: { ...nullable(text), description: 'Why it is not complete.' },
    bytes: { ...nullable(count), description: 'Of all files of a completed one.' },
    received: { ...nullable(count), description: 'Readings that were received before it.' },
    positions: nullable(positions),
    files: nullable(listOf(packedFile)),
  }),
)

export const createBackup = {
  operationId: 'createBackup',
  summary: 'Begin a backup of the whole service, while it runs.',
  description:
    'One at a time. The master key is only in it when `withMasterKey` asks for it: without that key no secret can be checked after a restore.',
  tags: ['Backups'],
  headers: keyHeaders,
  body: component(
    'NewBackup',
    record({ to, withMasterKey: boolean }, { optional: ['withMasterKey'] }),
  ),
  response: { 202: backup },
} as const

export const listBackups = {
  operationId: 'listBackups',
  summary: 'List backups, newest first.',
  tags: ['Backups'],
  querystring: query(cursorQuery),
  response: { 200: cursorListOf(backup) },
} as const

export const getBackup = {
  operationId: 'getBackup',
  summary: 'Read how far a backup has come, or what it holds.',
  tags: ['Backups'],
  params: idParams('backupId'),
  response: { 200: backup },
} as const

export const cancelBackup = {
  operationId: 'cancelBackup',
  summary: 'Cancel a backup that is running; what there is of it is removed.',
  description: 'A backup that has ended stays as it is. Repeating it changes nothing.',
  tags: ['Backups'],
  headers: keyHeaders,
  params: idParams('backupId'),
  response: { 200: backup },
} as const
