import { type Item, problem } from './decode-binary.ts'
import { CborItems } from './decode-cbor.ts'

/** Labels by the numbers that CBOR has for them (RFC 8428, section 6, table 6). */
const labels: Readonly<Record<number, string>> = {
  [-1]: 'bver',
  [-2]: 'bn',
  [-3]: 'bt',
  [-4]: 'bu',
  [-5]: 'bv',
  [-6]: 'bs',
  0: 'n',
  1: 'u',
  2: 'v',
  3: 'vs',
  4: 'vb',
  5: 's',
  6: 't',
  7: 'ut',
  8: 'vd',
}

const numbers = new Map(Object.entries(labels).map(([number, label]) => [label, Number(number)]))

/** The number that CBOR has for a label; the label itself where it has none. */
export function numberOfLabel(label: string): number | string {
  return numbers.get(label) ?? label
}

/** Tag of a decimal fraction: exponent and mantissa (RFC 8949, section 3.4.4). */
const tagDecimal = 4

/** CBOR as SenML uses it, read as the same pack in JSON. */
export class SenmlItems extends CborItems {
  nameOf(key: unknown): string | undefined {
    if (typeof key !== 'number') return undefined
    // Labels that came later are passed over, as those of JSON are.
    return labels[key] ?? `${key}`
  }

  protected override bytesItem(content: Uint8Array): Item {
    return { kind: 'scalar', value: Buffer.from(content).toString('base64url') }
  }

  protected override tagged(tag: number | bigint): Item {
    if (tag !== tagDecimal) return super.tagged(tag)
    const pair = this.untagged()
    if (pair.kind !== 'array' || pair.length !== 2) {
      throw problem('a decimal fraction has the wrong content', this)
    }
    const [exponent, mantissa] = [this.untagged(), this.untagged()]
    if (!isInteger(exponent) || !isInteger(mantissa)) {
      throw problem('a decimal fraction has the wrong content', this)
    }
    return { kind: 'scalar', value: Number(`${String(mantissa.value)}e${String(exponent.value)}`) }
  }
}

function isInteger({ kind, value }: Item): boolean {
  return kind === 'scalar' && Number.isInteger(value)
}
