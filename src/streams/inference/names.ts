import { nameProblem } from '../../contracts/definitions/field-map.ts'
import type { Step } from '../../contracts/path.ts'

const nameLengthMax = 63

/** Names of members that hold what nobody else should know, without their case and all but letters and digits. */
const secretNames =
  /^(pass|pwd|auth|pin)$|psk$|password|passwd|passphrase|secret|token|apikey|accesskey|privatekey|sharedkey|credential|authorization|signature/

/** A name in lower case, and without what is no letter and no digit. */
export function folded(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '')
}

/** Whether what stands at a path is nothing that is to be stored. */
export function isSecret(steps: readonly Step[]): boolean {
  return steps.some((step) => typeof step === 'string' && secretNames.test(folded(step)))
}

/** The last name on a path: what a value is called. */
export function lastName(steps: readonly Step[]): string {
  const name = steps.findLast((step) => typeof step === 'string')
  return typeof name === 'string' ? name : ''
}

/** Gives fields names that a schema can have, each once. */
export class FieldNames {
  readonly #taken = new Set<string>()

  /** Whether a member can be a field by its own name; it is taken then. */
  takeOwn(name: string): boolean {
    if (nameProblem(name, this.#taken, 1) !== undefined) return false
    this.#taken.add(name.toLowerCase())
    return true
  }

  /** A name made of the last names of a path, and of more of them where others have those. */
  take(steps: readonly Step[]): string {
    const parts = partsOf(steps)
    for (let count = Math.min(2, parts.length); count <= parts.length; count++) {
      const name = legal(parts.slice(-count).join('_'))
      if (this.takeOwn(name)) return name
    }
    const base = legal(parts.slice(-2).join('_')).slice(0, nameLengthMax - 8)
    const valued = `${base}_value`
    if (this.takeOwn(valued)) return valued
    for (let number = 2; ; number++) {
      const name = `${base}_${number}`
      if (this.takeOwn(name)) return name
    }
  }
}

/** Words of each name, and the indexes behind it. */
function partsOf(steps: readonly Step[]): readonly string[] {
  const parts: string[] = []
  for (const step of steps) {
    const last = parts.length - 1
    if (typeof step === 'string') parts.push(wordsOf(step))
    else if (last < 0) parts.push(`${step}`)
    else parts[last] = `${parts[last]}_${step}`
  }
  return parts
}

/** `ApparentPower` and `DS18B20-1` as `apparent_power` and `ds18b20_1`. */
function wordsOf(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z][a-z])/g, '$1_$2')
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .replace(/[^A-Za-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .toLowerCase()
}

function legal(name: string): string {
  const cut = name.slice(0, nameLengthMax - 1)
  if (cut === '') return 'value'
  return /^[0-9]/.test(cut) ? `_${cut}` : cut
}
