import { readSettings } from '../config/config.ts'
import { isFolderLocked } from '../config/data-folder.ts'
import { readOwner } from '../config/folder-owner.ts'
import { idleSettings } from '../config/idle-settings.ts'
import { sentenceOf, unknownSettings } from '../config/unknown-settings.ts'
import type { Check, Surroundings } from '../operating/doctor/check.ts'
import type { Ask } from '../operating/doctor/service-check.ts'
import { isServiceUrl, serviceOf, serviceOptions } from './administration.ts'
import { type Command, type Input, UsageError } from './command.ts'
import { askService } from './service-client.ts'

/** Says what is wrong with this installation. */
export const doctor: Command = {
  name: 'doctor',
  summary: 'Check everything that the service needs, and say what to do.',
  description: 'The exit code is 1 when a check fails, and 0 when there are warnings only.',
  operands: [],
  options: serviceOptions,
  async run(input) {
    const surroundings = lookAround()
    const ask = askOf(input, surroundings)
    const { examine } = await import('../operating/doctor/examine.ts')
    const checks = await examine(surroundings, ask)
    return {
      json: { checks },
      text: checks.map(lineOf).join('\n'),
      isFailure: checks.some(({ status }) => status === 'fail'),
    }
  },
}

function lookAround(): Surroundings {
  const { config, problems, known } = readSettings(process.env)
  const isLocked = isFolderLocked(config.dataDir)
  return {
    config,
    problems,
    idleSettings: idleSettings(process.env, config),
    unknownSettings: unknownSettings(process.env, known).map(sentenceOf),
    isLocked,
    owner: isLocked ? readOwner(config.dataDir) : undefined,
  }
}

function askOf({ options }: Input, { config, isLocked }: Surroundings): Ask | undefined {
  const given = options['url']
  if (given !== undefined && !isServiceUrl(given)) throw new UsageError('--url must be an address')
  const url = given ?? (isLocked ? serviceOf(config.dataDir) : undefined)
  if (url === undefined) return undefined
  const address = {
    url,
    authorityPath: options['ca'],
    ownCertificatePath: given === undefined ? config.tls?.certPath : undefined,
  }
  return (path) => askService(address, undefined, { method: 'GET', path })
}

function lineOf({ name, status, message, advice }: Check): string {
  const mark = { ok: 'ok  ', warn: 'WARN', fail: 'FAIL' }[status]
  const todo = advice === '' ? '' : `\n      -> ${advice}`
  return `${mark}  ${name}: ${message}${todo}`
}
