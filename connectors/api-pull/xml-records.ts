import { XMLParser, XMLValidator } from 'fast-xml-parser'
import { withoutSpaceAround } from '../../src/core/white-space.ts'

/** Deepest nesting of elements. */
const depthMax = 64

/** A document is read without a turn for anybody else, and takes a hundred times the memory of its text. */
const textLengthMax = 2 * 1024 * 1024

const attributesKey = ':@'
const textKey = '#text'
const dataKey = '#cdata'

/** An element as the library gives it, in order: its one key that is not the attributes' is its name. */
type XmlNode = Readonly<Record<string, unknown>>

const parser = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: '',
  removeNSPrefix: true,
  parseTagValue: false,
  parseAttributeValue: false,
  trimValues: false,
  cdataPropName: dataKey,
  ignoreDeclaration: true,
  ignorePiTags: true,
  maxNestedTags: depthMax,
  // Entities of a document are not expanded; there are none, as it may not have a DOCTYPE.
  processEntities: false,
})

/** A document whose elements are asked for by their names, without prefixes. */
export class XmlDocument {
  readonly #nodes: readonly XmlNode[]

  /** @throws Error when it is not well-formed, too long, too deep, or has a DOCTYPE */
  constructor(text: string) {
    if (text.length > textLengthMax) {
      throw new Error(`XML of more than ${textLengthMax / 1024 / 1024} MiB is not taken`)
    }
    if (text.includes('<!DOCTYPE')) throw new Error('XML with a DOCTYPE is not taken')
    const validity = XMLValidator.validate(text)
    if (validity !== true) {
      const { msg, line } = validity.err
      throw new Error(`not well-formed XML: line ${line}: ${msg.slice(0, 200)}`)
    }
    try {
      this.#nodes = parser.parse(text) as XmlNode[]
    } catch (error) {
      throw new Error(`not readable XML: ${(error as Error).message.slice(0, 200)}`, {
        cause: error,
      })
    }
  }

  /** All elements at a path that begins with the root, in their order. */
  at(path: readonly string[]): readonly XmlElement[] {
    let found = this.#nodes
    for (const [index, name] of path.entries()) {
      const within = index === 0 ? found : found.flatMap(childrenOf)
      found = within.filter((node) => nameOf(node) === name)
    }
    return found.map((node) => new XmlElement(node))
  }
}

export class XmlElement {
  readonly #node: XmlNode

  constructor(node: XmlNode) {
    this.#node = node
  }

  /** Text of the element without white space around it; undefined where it has elements in it. */
  get text(): string | undefined {
    const children = childrenOf(this.#node)
    if (children.some((child) => ![textKey, dataKey].includes(nameOf(child)))) return undefined
    const texts = children.map((child) => {
      if (nameOf(child) === textKey) return withoutReferences(String(child[textKey]))
      return (child[dataKey] as readonly Readonly<Record<string, string>>[])[0]?.[textKey] ?? ''
    })
    return withoutSpaceAround(texts.join(''))
  }

  /**
   * The text of the element in it with this name, or of its attribute; undefined where there is neither.
   *
   * @throws Error when that is no text, or there are several
   */
  valueOf(name: string): string | undefined {
    const [child, other] = childrenOf(this.#node).filter((one) => nameOf(one) === name)
    if (other !== undefined) throw new Error(`${name} comes twice`)
    if (child === undefined) {
      const attributes = this.#node[attributesKey] as Readonly<Record<string, string>> | undefined
      const value = attributes && Object.hasOwn(attributes, name) ? attributes[name] : undefined
      return value === undefined ? undefined : withoutReferences(value)
    }
    const { text } = new XmlElement(child)
    if (text === undefined) throw new Error(`${name} has elements in it`)
    return text
  }

  toJSON(): unknown {
    return this.#node
  }
}

function nameOf(node: XmlNode): string {
  return Object.keys(node).find((key) => key !== attributesKey) ?? ''
}

function childrenOf(node: XmlNode): readonly XmlNode[] {
  const children = node[nameOf(node)]
  return Array.isArray(children) ? (children as XmlNode[]) : []
}

const named: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
}

/** Puts characters where references to them are: those that XML itself has (XML 1.0, sections 4.1 and 4.6). */
function withoutReferences(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([\da-fA-F]{1,6})|(\w{1,20}));/g, (all, ...parts) => {
    const [decimal, hexadecimal, name] = parts as (string | undefined)[]
    if (name !== undefined) return named[name] ?? all
    const code = decimal === undefined ? Number.parseInt(hexadecimal ?? '', 16) : Number(decimal)
    return code <= 0x10ffff ? String.fromCodePoint(code) : all
  })
}
