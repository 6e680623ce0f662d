import { SenderBufferV2, SenderOptions } from '@questdb/nodejs-client'
import { messageOf } from '../../../core/errors.ts'
import { parseJson } from '../../../core/parse-json.ts'
import { parseInstant } from '../../../core/time.ts'
import type { Column, Shape } from '../shape.ts'
import type { ShippedReading } from '../shipment.ts'
import { booleanBytes, storedDigest, tableOf } from './layout.ts'

/** A reading that the line protocol has no row for. */
export class UnfitReading extends Error {
  override readonly name = 'UnfitReading'
}

/**
 * Rows in the line protocol, as the client library encodes them. They stay here until they are
 * cleared, so that what was not taken can be sent again: the library's own sender drops a batch
 * that fails.
 */
export class RowBuffer extends SenderBufferV2 {
  readonly #prefix: string
  readonly #placeOf: (reading: ShippedReading) => Shape
  #isFirstColumn = true

  /** @param placeOf the shape whose table a reading lies in */
  constructor(prefix: string, placeOf: (reading: ShippedReading) => Shape = ({ shape }) => shape) {
    // The address is not used: who sends is QuestDbConnection, which says why.
    super(new SenderOptions('http::addr=localhost;protocol_version=2;max_buf_size=1073741824'))
    this.#prefix = prefix
    this.#placeOf = placeOf
  }

  /** @throws UnfitReading: the buffer is of no use then until it is cleared */
  push(reading: ShippedReading): void {
    try {
      this.#push(reading)
    } catch (error) {
      throw new UnfitReading(messageOf(error), { cause: error })
    }
  }

  #push(reading: ShippedReading): void {
    const { shape, streamId, extra, flagged } = reading
    this.#isFirstColumn = true
    this.table(tableOf(this.#prefix, this.#placeOf(reading).id))
      .symbol('streamId', streamId)
      .timestampColumn('$receivedAt', reading.receivedAtUs, 'us')
    this.#long('$digest', storedDigest(reading.digest))
    this.intColumn('$offset', reading.offset)
    if (extra !== undefined) this.stringColumn('extra', extra)
    if (flagged.length > 0) this.stringColumn('$flagged', flagged.join(','))
    const fields = parseJson(reading.values) as Record<string, unknown>
    for (const column of shape.columns) {
      if (Object.hasOwn(fields, column.name)) this.#field(column, fields[column.name])
    }
    this.at(reading.timestampUs, 'us')
  }

  /** The rows, which are the buffer's own memory: good until it is filled or cleared. */
  get bytes(): Uint8Array {
    return this.toBufferView()
  }

  /** Takes what the field's type allows: it was checked before the journal. */
  #field({ name, type }: Column, value: unknown): void {
    switch (type) {
      case 'double':
        this.floatColumn(name, value as number)
        break
      case 'bigint':
        this.intColumn(name, value as number)
        break
      case 'boolean':
        this.intColumn(name, value === true ? booleanBytes.true : booleanBytes.false)
        break
      case 'varchar':
        this.stringColumn(name, value as string)
        break
      case 'json':
        this.stringColumn(name, JSON.stringify(value))
        break
      case 'timestamp':
        this.#instant(name, value as string)
        break
      default:
        return type satisfies never
    }
  }

  #instant(name: string, text: string): void {
    const instantUs = parseInstant(text)
    if (typeof instantUs !== 'object') this.timestampColumn(name, instantUs, 'us')
  }

  /**
   * The library checks and escapes each name in each row, character by character. Ours have only letters,
   * digits, underscores and dollar signs, in which there is nothing to escape.
   */
  protected override writeColumn(
    name: string,
    value: unknown,
    writeValue: () => void,
    valueType?: string,
  ): void {
    if (valueType !== undefined && typeof value !== valueType) {
      throw new Error(`${name} takes a ${valueType}, not a ${typeof value}`)
    }
    this.checkCapacity([], 2 + name.length)
    this.write(`${this.#isFirstColumn ? ' ' : ','}${name}=`)
    this.#isFirstColumn = false
    writeValue()
  }

  /** The library's own column of whole numbers takes no more than 53 bits. */
  #long(name: string, value: bigint): void {
    const text = `${value}i`
    this.writeColumn(name, value, () => {
      this.checkCapacity([], text.length)
      this.write(text)
    })
  }
}
