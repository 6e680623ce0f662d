import type { Static } from 'typebox'
import { formatUs } from '../../core/time.ts'
import * as s from '../../requests/http/schema.ts'
import { type Backup, type BackupState, backupStates } from './backup.ts'
import { backupPhases } from './backup-writer.ts'

const to = {
  ...s.text,
  minLength: 1,
  maxLength: 1_024,
  description:
    'An absolute path of an empty or new folder of the machine of the service, or `s3://bucket/prefix?endpoint=https://host`.',
  examples: ['/backups/2026-01-31'],
}

const packedFile = s.record({
  name: s.text,
  bytes: { ...s.count, description: 'Of the file as it lies there, packed.' },
  contentBytes: s.count,
  sha256: { ...s.text, description: 'Of the file as it lies there, hexadecimal.' },
})

const positions = s.record(
  { store: s.count, decider: s.count, journalFrom: s.count, journalTo: s.count },
  {
    description:
      'Offsets of the journal. All that was acknowledged before `journalTo` is in the backup.',
  },
)

export const backupSchema = s.component(
  'Backup',
  s.record({
    backupId: s.uuid,
    status: s.choice(backupStates),
    to,
    withMasterKey: s.boolean,
    createdAt: s.dateTime,
    finishedAt: s.nullable(s.dateTime),
    progress: {
      ...s.nullable(
        s.record({
          phase: s.choice(backupPhases),
          bytesDone: s.count,
          bytesTotal: { ...s.count, description: 'As far as it is known by now.' },
        }),
      ),
      description: 'Of one that is running.',
    },
    error: { ...s.nullable(s.text), description: 'Why it is not complete.' },
    remedy: { ...s.nullable(s.text), description: 'What to do about the error, for people.' },
    bytes: { ...s.nullable(s.count), description: 'Of all files of a completed one.' },
    received: { ...s.nullable(s.count), description: 'Readings that were received before it.' },
    lostFiles: {
      ...s.nullable(s.count),
      description: 'Files of users that were gone, or had another size, when it was made.',
    },
    positions: s.nullable(positions),
    files: s.nullable(s.listOf(packedFile)),
  }),
)

export const newBackupSchema = s.component(
  'NewBackup',
  s.record({ to, withMasterKey: s.boolean }, { optional: ['withMasterKey'] }),
)

/** What to do about a backup in each state. */
const remedies: Readonly<Record<BackupState, string | null>> = {
  running: null,
  completed: null,
  failed:
    'Correct what error names, then make another backup with POST /backups, into an empty place; docs/backup.md describes places and their credentials.',
  cancelled: 'Make another backup with POST /backups.',
}

export function backupBody(backup: Backup): Static<typeof backupSchema> {
  const { id, state, createdAtUs, finishedAtUs, manifest } = backup
  const { progress = null, error = null } = backup
  const files = manifest?.files ?? null
  return {
    backupId: id,
    status: state,
    to: backup.to,
    withMasterKey: backup.withMasterKey,
    createdAt: formatUs(createdAtUs),
    finishedAt: finishedAtUs === undefined ? null : formatUs(finishedAtUs),
    progress,
    error,
    remedy: remedies[state],
    bytes: files === null ? null : files.reduce((sum, { bytes }) => sum + bytes, 0),
    received: manifest?.counts.received ?? null,
    lostFiles: manifest?.counts.filesLost ?? null,
    positions: manifest?.positions ?? null,
    files,
  }
}
