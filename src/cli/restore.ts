import { type Config, readConfig } from '../config/config.ts'
import { hasFilesInBucket } from '../operating/backup/manifest.ts'
import type { ReadBackup } from '../operating/backup/restore.ts'
import { fromOption, lostSentence, placeOf } from './backup.ts'
import { type Command, CommandError } from './command.ts'
import { interruptible } from './interruptible.ts'
import { ProgressLine } from './progress-line.ts'

/** Makes a data folder of a backup. */
export const restore: Command = {
  name: 'restore',
  summary: 'Make a new data folder from a backup.',
  description:
    'When a file of the backup is damaged, nothing is made. The first start processes the journal of the backup.',
  operands: [],
  options: [
    fromOption,
    {
      name: 'data-dir',
      value: 'FOLDER',
      isRequired: true,
      summary: 'Where it is made: a new or empty folder.',
    },
    {
      name: 'verify',
      summary:
        'Process the journal at once, and compare the counts of all streams and tables, and the files of users.',
    },
    {
      name: 'discard-cut-off',
      summary: 'First remove the tables that an interrupted restore has left in QuestDB.',
    },
  ],
  async run({ options, isJson }) {
    const { openRestorer } = await import('../processes/offline/restoring.ts')
    const dataDir = options['data-dir'] ?? ''
    // What the first start would log has no place between progress and result.
    const config: Config = {
      ...readConfig(process.env),
      dataDir,
      log: { level: 'silent', format: 'json' },
    }
    const discardsCutOff = options['discard-cut-off'] !== undefined
    const from = placeOf(options['from'])
    const line = new ProgressLine(isJson)
    const isVerified = options['verify'] !== undefined
    let state = `${dataDir} was not made`
    const { read, compared } = await interruptible(
      async (stopped) => {
        const restorer = await openRestorer(from, stopped)
        const made = await restorer
          .restore({ ...config, discardsCutOff }, (done, total) =>
            line.show('restoring', done, total),
          )
          .finally(() => line.end())
        state = `${dataDir} was made, and was not compared with the backup`
        return {
          read: made,
          compared: isVerified ? await restorer.compare(config, made) : undefined,
        }
      },
      () => ({ message: `cancelled: ${state}` }),
    )
    if (compared && compared.differenceCount > 0) {
      const { differenceCount, differences } = compared
      const message = `${dataDir} differs from the backup in ${differenceCount} places: ${differences.join('; ')}`
      throw new CommandError('restore_differs', message)
    }
    const { manifest } = read
    const { received } = manifest.counts
    const done = `${dataDir} has all ${received} readings received until ${manifest.asOf}`
    return {
      json: {
        dataDir,
        verified: isVerified,
        lostFiles: read.contents.lost.map(({ reason }) => reason),
        manifest,
      },
      text: isVerified ? `${done}; all counts are those of the backup` : done,
      ...noticeOf(read, config),
    }
  },
}

function noticeOf(
  read: ReadBackup,
  { dataDir, filesAddress }: Config,
): { readonly notice?: string } {
  const { manifest, contents } = read
  const isElsewhere = hasFilesInBucket(manifest) && filesAddress.kind === 'folder'
  const notices = [
    ...(manifest.hasMasterKey ? [] : [withoutKey(dataDir)]),
    ...(contents.lostCount > 0 ? [lostSentence(read)] : []),
    ...(isElsewhere ? [filesElsewhere] : []),
  ]
  return notices.length > 0 ? { notice: notices.join('\n') } : {}
}

const filesElsewhere =
  'The files of users are not in the backup: they are in the bucket that STREAMVAULT_FILES_URL named. Set it ' +
  'before the service is started; with it --verify says which of them the bucket does not have.'

function withoutKey(dataDir: string): string {
  return (
    `The backup has no master key: put yours into ${dataDir}/master.key, or set STREAMVAULT_MASTER_KEY, before the ` +
    'service is started. With another one no key, token or stored credential works.'
  )
}
