import { CsvLines, CsvProblem } from '../../processors/csv-lines.ts'
import { type FetchedMessage, SourceRefused } from '../../src/contracts/fetch-connector.ts'
import type { ApiAnswer } from '../http-client/exchange.ts'
import { shownAddress } from '../http-client/shown-text.ts'
import { enclosedItems } from './enclosed-items.ts'
import type { ApiItems } from './items.ts'
import { elementsOf, isList, JsonProblem, type Slice, slicesAt, startOf } from './json-slices.ts'
import type { ApiOptions } from './options.ts'
import { asLines, asList, eachAlone, messageOf, Portions } from './portions.ts'

/** What an answer holds. */
export interface ReadPage {
  readonly messages: readonly FetchedMessage[]
  /** Items in it; undefined where that cannot be said. */
  readonly count: number | undefined
  /** What stands at `cursorPath`; undefined for nothing, null, false and an empty text. */
  readonly cursor: string | undefined
}

interface Content {
  readonly body: Buffer
  readonly options: ApiOptions
  readonly type: string
  readonly charset: string | undefined
  /** Where messages come from. */
  readonly source: string
}

/** Items as a list of JSON. */
const asItems = { join: asList, part: eachAlone }

const ndjsonTypes = [
  'application/x-ndjson',
  'application/ndjson',
  'application/jsonl',
  'application/x-jsonlines',
]

/**
 * Takes an answer apart. Values stay as they were sent: JSON is cut, and never read and written again.
 *
 * @throws SourceRefused when the source says too little about such an answer
 * @throws Error when what the source says is not in it
 */
export async function readPage(answer: ApiAnswer, options: ApiOptions): Promise<ReadPage> {
  const { body, headers, url } = answer
  const contentType = headers['content-type'] ?? ''
  const [type = ''] = contentType.toLowerCase().split(';')
  const charset = /;\s*charset="?([^\s";]+)/i.exec(contentType)?.[1]
  const source = `${options.method} ${shownAddress(url, options.hidden)}`
  const content = { body, options, type: type.trim(), charset, source }
  if (startOf(body) === body.length) return { messages: [], count: 0, cursor: undefined }
  return await reading(content)
}

async function reading(content: Content): Promise<ReadPage> {
  const { type, options, body, source } = content
  const { format, itemsPath } = options
  if (/[/+]xml$/.test(type)) return await readXml(content)
  if (format === 'csv') return await readCsv(content)
  if (format === 'ndjson') return await readLines(content, { join: asLines })
  if (format === 'json') {
    if (itemsPath === undefined && ndjsonTypes.includes(type)) return readLines(content, asItems)
    if (type === 'text/html') throw new Error('the answer is a web page (text/html)')
    if (type === 'text/csv')
      throw new SourceRefused('the answer is CSV: set format to csv, and columns')
    return await readJson(content)
  }
  return { messages: [messageOf(body, source)], count: undefined, cursor: undefined }
}

async function readJson({ body, options, source }: Content): Promise<ReadPage> {
  const { itemsPath, items: wanted, pagination } = options
  const cursorPath = pagination?.cursorPath
  if (wanted !== undefined) return await readItems(body, wanted, { source, cursorPath })
  if (itemsPath === undefined && cursorPath === undefined) return await readWhole(body, source)
  const paths = [itemsPath ?? [], ...(cursorPath === undefined ? [] : [cursorPath])]
  const [items, cursor] = slicesAt(body, paths)
  if (items === undefined) throw new Error(`there is nothing at ${itemsPath?.join('.')}`)
  const cursorText = cursor && cursorOf(body.toString('utf8', cursor.start, cursor.end))
  if (itemsPath === undefined) return { ...(await readWhole(body, source)), cursor: cursorText }
  return { ...(await itemsAt(body, items, source)), cursor: cursorText }
}

/** An answer whose readings the stream finds by itself. */
async function readItems(
  body: Buffer,
  { names, count }: ApiItems,
  {
    source,
    cursorPath,
  }: { readonly source: string; readonly cursorPath: readonly string[] | undefined },
): Promise<ReadPage> {
  const cursor = cursorPath && textAt(body, cursorPath)
  if (names === undefined) {
    const found = count(body)
    if (found === 0) return { messages: [], count: 0, cursor }
    return { messages: [messageOf(body, source)], count: found, cursor }
  }
  if (names.length === 0) return { ...(await readWhole(body, source)), cursor }
  const [items] = slicesAt(body, [names])
  if (items === undefined) throw new Error(`there is nothing at ${names.join('.')}`)
  const page = await enclosedItems(body, items, source)
  return { ...page, cursor }
}

function textAt(body: Buffer, path: readonly string[]): string | undefined {
  const [found] = slicesAt(body, [path])
  return found && cursorOf(body.toString('utf8', found.start, found.end))
}

/** A list is a page of items; anything else one message, as it is, of which the decoder has to judge. */
async function readWhole(body: Buffer, source: string): Promise<ReadPage> {
  const whole = { messages: [messageOf(body, source)], count: undefined, cursor: undefined }
  try {
    if (!isList(body, { start: startOf(body), end: body.length })) return whole
    const [list] = slicesAt(body, [[]])
    return list === undefined ? whole : await itemsAt(body, list, source)
  } catch (error) {
    if (error instanceof JsonProblem) return whole
    throw error
  }
}

async function itemsAt(body: Buffer, items: Slice, source: string): Promise<ReadPage> {
  const portions = new Portions({ source, ...asItems })
  if (isList(body, items)) {
    for (const { start, end } of elementsOf(body, items)) {
      await portions.add(body.subarray(start, end))
    }
  } else {
    const item = body.subarray(items.start, items.end)
    // There are APIs that have null for a list without items.
    if (item.toString() !== 'null') await portions.add(item)
  }
  return await pageOf(portions)
}

async function pageOf(portions: Portions, cursor?: string): Promise<ReadPage> {
  await portions.end()
  return { messages: portions.messages, count: portions.count, cursor }
}

/** A number stays as it is written: it may be longer than a double can tell. */
function cursorOf(text: string): string | undefined {
  if (text === 'null' || text === 'false') return undefined
  if (/^-?\d/.test(text)) return text
  const value: unknown = text.startsWith('"') ? JSON.parse(text) : undefined
  if (typeof value !== 'string') throw new Error('the cursor is neither a text nor a number')
  return value === '' ? undefined : value
}

async function readLines(
  { body, source }: Content,
  ways: Pick<ConstructorParameters<typeof Portions>[0], 'join' | 'part'>,
): Promise<ReadPage> {
  const portions = new Portions({ source, ...ways })
  for (let start = startOf(body); start < body.length; ) {
    const feed = body.indexOf(10, start)
    const end = feed < 0 ? body.length : feed
    await portions.add(body.subarray(start, end))
    // Passes over blank lines.
    start = startOf(body, end)
  }
  return await pageOf(portions)
}

/** Lines as they are, without those that name the columns: the stream knows them, and their types. */
async function readCsv({ body, charset, options, source }: Content): Promise<ReadPage> {
  const { delimiter, columns, headerLines } = options
  const text = textOf(body, charset)
  const portions = new Portions({ source, join: asLines })
  try {
    const lines = new CsvLines(text, { delimiter, cellsMax: columns.length + 1 })
    for (let skipped = 0; skipped < headerLines; skipped++) lines.next()
    for (let line = lines.next(); line !== undefined; line = lines.next()) {
      await portions.add(Buffer.from(text.slice(line.start, line.end)))
    }
    return await pageOf(portions)
  } catch (error) {
    if (!(error instanceof CsvProblem)) throw error
    return { messages: [messageOf(body, source)], count: undefined, cursor: undefined }
  }
}

/** Records become lines of CSV: texts, like those, which the stream reads by the types of its fields. */
async function readXml({ body, charset, options, source }: Content): Promise<ReadPage> {
  const { format, itemsPath, columns, delimiter, pagination } = options
  if (format !== 'csv' || itemsPath === undefined) {
    throw new SourceRefused('the answer is XML: set format to csv, columns, and itemsPath')
  }
  const declared = /^\uFEFF?<\?xml[^>]{0,200}?encoding=["']([\w-]+)/.exec(
    body.toString('latin1', 0, 300),
  )
  // Loaded when it is needed: few APIs still send it.
  const { XmlDocument } = await import('./xml-records.ts')
  const xml = new XmlDocument(textOf(body, charset ?? declared?.[1]))
  const portions = new Portions({ source, join: asLines })
  for (const record of xml.at(itemsPath)) {
    try {
      const cells = columns.map((name) => cellOf(name === null ? undefined : record.valueOf(name)))
      await portions.add(Buffer.from(cells.join(delimiter)))
    } catch (error) {
      await portions.refuse(Buffer.from(JSON.stringify(record)), (error as Error).message)
    }
  }
  const path = pagination?.cursorPath
  const cursor = path === undefined ? undefined : xml.at(path)[0]?.text
  return await pageOf(portions, cursor === '' ? undefined : cursor)
}

function cellOf(text: string | undefined): string {
  return text === undefined ? '' : `"${text.replaceAll('"', '""')}"`
}

/** @throws SourceRefused for an encoding that is not known; Error for bytes that are not in it */
function textOf(body: Buffer, charset = 'utf-8'): string {
  const decoder = decoderOf(charset)
  try {
    return decoder.decode(body)
  } catch (error) {
    throw new Error(`the answer is not ${charset.slice(0, 50)} throughout`, { cause: error })
  }
}

function decoderOf(charset: string) {
  try {
    return new TextDecoder(charset, { fatal: true })
  } catch {
    throw new SourceRefused(`the character encoding ${charset.slice(0, 50)} is not known`)
  }
}
