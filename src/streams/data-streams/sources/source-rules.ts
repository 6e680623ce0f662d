import {
  type Json,
  oneOf,
  type Problems,
  part,
  type Rule,
  type Rules,
  text,
} from '../definition-problems.ts'
import { isObject } from '../field-map.ts'
import type { SecretPlace } from '../named-secrets.ts'
import { formatRules } from '../payload-format.ts'
import { scheduleProblem } from '../schedule.ts'
import { brokerRules, checkBrokerSource } from './broker.ts'

/**
 * The keys of one kind of source (decisions.md#definitions), and those that it cannot do without.
 */
export interface SourceRules {
  readonly rules: Rules
  readonly required: readonly string[]
  /** Where secrets may be named: nowhere where it says nothing. */
  readonly secretPlaces?: readonly SecretPlace[]
  /** Checks that concern several keys. */
  readonly checkAll?: (source: Json, problems: Problems) => void
}

export const deviceProtocols = ['mqtt', 'http', 'coap'] as const
export const databaseProtocols = ['postgres', 'mysql', 'mariadb', 'sqlite', 'mssql'] as const
export const credentials: Rule = (value, key, problems) => {
  part({ username: text, password: text, certificate: text })(value, key, problems)
  if (!isObject(value)) return
  const isPair = value['username'] !== undefined && value['password'] !== undefined
  if (isPair !== (value['certificate'] !== undefined)) return
  problems.add(key, 'must have username and password, or a certificate')
}

/** Text of a URL with one of these schemes, without credentials: they have a place of their own. */
export function address(...schemes: readonly string[]): Rule {
  return (value, key, problems) => {
    const url = typeof value === 'string' ? URL.parse(value) : null
    const fits = url !== null && url.hostname !== '' && schemes.includes(url.protocol.slice(0, -1))
    if (!fits) problems.add(key, `must be an address such as ${schemes[0]}://host:port`)
    else if (url.username !== '' || url.password !== '') {
      problems.add(key, 'must not hold credentials: they have a key of their own')
    }
  }
}

export const schedule: Rule = (value, key, problems) => {
  const problem = typeof value === 'string' ? scheduleProblem(value) : 'must be a cron expression'
  if (problem !== undefined) problems.add(key, problem)
}

export const timezone: Rule = (value, key, problems) => {
  if (typeof value === 'string' && isTimeZone(value)) return
  problems.add(key, 'must be the name of a time zone such as Europe/Berlin')
}

function isTimeZone(name: string): boolean {
  try {
    return Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

/** A filter of MQTT topics: `+` stands for a whole level, `#` for all from the last one on. */
const topicFilter: Rule = (value, key, problems) => {
  const levels = typeof value === 'string' && value.length <= 1_000 ? value.split('/') : []
  const fits =
    levels.join('') !== '' &&
    levels.every((level, index) => {
      if (level === '+' || (level === '#' && index === levels.length - 1)) return true
      return !/[+#\0]/.test(level)
    })
  if (!fits) problems.add(key, 'must be a topic; + and # stand for whole levels')
}

/** Keys of a device that pushes, or of a broker that it pushes to. */
export function deviceSource(protocols: readonly string[]): SourceRules {
  return {
    rules: {
      deviceId: text,
      protocol: oneOf(...protocols),
      topic: topicFilter,
      ...formatRules,
      ...brokerRules,
    },
    required: [],
    secretPlaces: ['endpoint'],
    checkAll: checkBrokerSource,
  }
}
