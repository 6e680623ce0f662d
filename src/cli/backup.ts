import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ReadBackup } from '../operating/backup/restore.ts'
import { serviceOptions } from './administration.ts'
import { type Command, CommandError, type Option } from './command.ts'
import { interruptible } from './interruptible.ts'
import { formatBytes, ProgressLine } from './progress-line.ts'
import { Session } from './session.ts'
import { onStopSignals } from './stop-signals.ts'

const pollMs = 300

const toOption: Option = {
  name: 'to',
  value: 'PLACE',
  isRequired: true,
  summary: 'A new or empty folder, or s3://bucket/prefix?endpoint=https://host.',
}

export const fromOption: Option = {
  name: 'from',
  value: 'PLACE',
  isRequired: true,
  summary: 'Where the backup is: a folder, or s3://bucket/prefix?endpoint=https://host.',
}

interface BackupBody {
  readonly backupId: string
  readonly status: 'running' | 'completed' | 'failed' | 'cancelled'
  readonly progress: {
    readonly phase: string
    readonly bytesDone: number
    readonly bytesTotal: number
  } | null
  readonly error: string | null
  readonly bytes: number | null
  readonly received: number | null
  readonly lostFiles: number | null
}

/** Makes the running service write a backup of itself, and waits for it. */
export const backup: Command = {
  name: 'backup',
  summary: 'Make a backup of the running service.',
  description:
    'The service writes it: the folder is on the machine of the service, and the credentials of an object store are in its ' +
    'environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY). Ctrl-C cancels it.',
  operands: [],
  options: [
    toOption,
    {
      name: 'with-master-key',
      summary: 'Put the master key into it, too: a user who has the backup then has all secrets.',
    },
    ...serviceOptions,
  ],
  async run(input) {
    const { options, isJson } = input
    const session = Session.open(input)
    const withMasterKey = options['with-master-key'] !== undefined
    const body = { to: placeOf(options['to']), withMasterKey }
    const begun = await session.call<BackupBody>({ method: 'POST', path: '/backups', body })
    const ended = await untilEnded(session, begun, new ProgressLine(isJson))
    const { status, error, bytes, received, lostFiles } = ended
    if (status === 'cancelled') {
      throw new CommandError('backup_cancelled', `cancelled: ${body.to} has no backup`)
    }
    if (status !== 'completed') throw new CommandError(`backup_${status}`, error ?? status)
    const text = `${body.to} has all ${received} readings received before it, in ${formatBytes(bytes ?? 0)}`
    const notices = [
      ...(withMasterKey ? [] : [withoutKey]),
      ...(lostFiles
        ? [`${lostFiles} files of users are lost: streamvault doctor names them.`]
        : []),
    ]
    return { json: ended, text, ...(notices.length > 0 && { notice: notices.join('\n') }) }
  },
}

const withoutKey =
  'The master key is not in it. Keep master.key (or STREAMVAULT_MASTER_KEY) elsewhere: without it no key, token or ' +
  'stored credential works after a restore.'

async function untilEnded(
  session: Session,
  begun: BackupBody,
  line: ProgressLine,
): Promise<BackupBody> {
  const path = `/backups/${begun.backupId}`
  const interrupted = new AbortController()
  const ignoreSignals = onStopSignals({ stop: () => interrupted.abort() })
  try {
    for (let now = begun; ; now = await session.call<BackupBody>({ method: 'GET', path })) {
      if (now.status !== 'running') return now
      const { phase = 'begins', bytesDone = 0, bytesTotal = 0 } = now.progress ?? {}
      line.show(phase, bytesDone, bytesTotal)
      await sleep(pollMs, undefined, { signal: interrupted.signal }).catch(() => undefined)
      if (!interrupted.signal.aborted) continue
      return await session.call<BackupBody>({ method: 'POST', path: `${path}/cancel` })
    }
  } finally {
    ignoreSignals()
    line.end()
  }
}

/** Reads all of a backup and compares it with its manifest. */
export const verifyBackup: Command = {
  name: 'backup verify',
  summary: 'Compare every file of a backup with its manifest.',
  operands: [],
  options: [fromOption],
  async run({ options, isJson }) {
    const { openRestorer } = await import('../processes/offline/restoring.ts')
    const from = placeOf(options['from'])
    const line = new ProgressLine(isJson)
    const read = await interruptible(
      async (stopped) => {
        const restorer = await openRestorer(from, stopped)
        return await restorer
          .verify((done, total) => line.show('verifying', done, total))
          .finally(() => line.end())
      },
      () => ({ message: `cancelled: ${from} was not compared with its manifest` }),
    )
    const { files, counts } = read.manifest
    const complete = `${from} is complete: ${files.length} files, ${counts.received} readings received`
    const { lost, lostCount } = read.contents
    const json = { ...read.manifest, lostFiles: lost.map(({ reason }) => reason) }
    if (lostCount === 0) return { json, text: complete }
    return { json, text: `${complete}; but ${lostSentence(read)}`, isFailure: true }
  },
}

/** Files of users that a backup does not have as they were uploaded. */
export function lostSentence({ contents: { lost, lostCount } }: Pick<ReadBackup, 'contents'>) {
  const more = lostCount > lost.length ? `; and ${lostCount - lost.length} more` : ''
  return (
    `${lostCount} files of users were lost before the backup was made: ` +
    lost.map(({ reason }) => reason).join('; ') +
    more
  )
}

/** A path of a folder counts from here, also when the service has another working directory. */
export function placeOf(text = ''): string {
  return text.startsWith('s3://') ? text : resolve(text)
}
