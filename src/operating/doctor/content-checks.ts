import { existsSync } from 'node:fs'
import { filesIn } from '../../config/data-folder.ts'
import { messageOf } from '../../core/errors.ts'
import { type ContentSurvey, surveyPlace } from '../../files/contents/content-survey.ts'
import { type Check, fail, ok, type Surroundings } from './check.ts'

const name = 'files'

/** Files of users: what the state knows is there, in the data folder or in the bucket. */
export async function checkContents({ config, isLocked }: Surroundings): Promise<Check> {
  const { state, files: folder } = filesIn(config.dataDir)
  const { filesAddress: address } = config
  if (!existsSync(state)) return ok(name, 'no files are kept yet')
  try {
    return checkOf(await surveyPlace(state, { address, folder }), isLocked)
  } catch (error) {
    const advice =
      address.kind === 's3'
        ? 'look at STREAMVAULT_FILES_URL, at the credentials, and at the bucket'
        : `look at ${folder}, its disk and its rights`
    return fail(name, `they cannot be looked at: ${messageOf(error)}`, advice)
  }
}

function checkOf(survey: ContentSurvey, isRunning: boolean): Check {
  const { known, knownBytes, lostCount, unknown, unknownBytes } = survey
  const left = unknown === 0 ? '' : `; ${unknown} more (${unknownBytes} bytes) are of no resource: `
  const why = isRunning
    ? 'uploads that are under way, or were cut off'
    : 'the next start removes them'
  const remark = left && left + why
  const all = `${known} (${knownBytes} bytes)`
  if (lostCount === 0) return ok(name, `${all} are there${remark}`)
  const message = `of ${all} ${lostCount} are lost: ${namesOf(survey)}${remark}`
  const advice =
    'put them back from a backup, or upload the same files once more; one with another size has to be removed first'
  return fail(name, message, advice)
}

function namesOf({ lost, lostCount }: ContentSurvey): string {
  const names = lost.map(({ cid, size, found }) =>
    found === undefined ? cid : `${cid} (${found} bytes instead of ${size})`,
  )
  return names.join(', ') + (lostCount > names.length ? ', and others' : '')
}
