/** What stands in an address for a secret, as the source has it. */
const placeholders = /\$\{(\w+)\}/g

/**
 * Secrets that stand in the address of a source, by their names: wherever an address is shown or kept, it has the names
 * in their places.
 */
export class HiddenValues {
  readonly #values: Readonly<Record<string, string>>
  /** The longest first, as one may be part of another. */
  readonly #names: readonly string[]

  constructor(values: Readonly<Record<string, string>> = {}) {
    this.#values = values
    this.#names = Object.keys(values).toSorted(
      (one, other) => this.#length(other) - this.#length(one),
    )
  }

  /** What no message may show. */
  get secrets(): readonly string[] {
    return this.#names.map((name) => this.#of(name))
  }

  /** An address without its query, which may hold what nobody should see. */
  shown({ protocol, host, pathname }: URL): string {
    return `${protocol}//${host}${this.#hidden(pathname, '/')}`
  }

  /** An address as it may be kept. Another server may have written the secret in it in another way. */
  kept(url: URL): string {
    if (this.#names.length === 0) return url.href
    const { pathname, search } = url
    const path = this.#hidden(pathname, '/')
    const query = this.#hidden(search.slice(1), '&', '=')
    return `${url.protocol}//${url.host}${path}${search === '' ? '' : `?${query}`}`
  }

  /** The address again, with the secrets. */
  whole(kept: string): string {
    return kept.replace(placeholders, (placeholder, name: string) =>
      Object.hasOwn(this.#values, name) ? encoded(this.#of(name)) : placeholder,
    )
  }

  #hidden(text: string, ...signs: readonly string[]): string {
    const [sign, ...inner] = signs
    if (sign !== undefined) {
      return text
        .split(sign)
        .map((part) => this.#hidden(part, ...inner))
        .join(sign)
    }
    // In a query a plus sign is a space, and in a path it is one where somebody has taken it for that.
    const readings = [decoded(text), decoded(text.replaceAll('+', ' '))]
    const plain = readings.find((reading) => this.secrets.some((one) => reading.includes(one)))
    return plain === undefined ? text : this.#replaced(plain, this.#names)
  }

  #replaced(plain: string, names: readonly string[]): string {
    const [name, ...others] = names
    if (name === undefined) return encoded(plain)
    return plain
      .split(this.#of(name))
      .map((rest) => this.#replaced(rest, others))
      .join(`\${${name}}`)
  }

  #of(name: string): string {
    return this.#values[name] ?? ''
  }

  #length(name: string): number {
    return this.#of(name).length
  }
}

/** What is badly encoded is read as far as it can be: that is no reason to show a secret. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text.replace(/(%[\da-f]{2})+/gi, (bytes) =>
      Buffer.from(bytes.replaceAll('%', ''), 'hex').toString(),
    )
  }
}

/** RFC 3986, section 2.3: what is left as it is means the same everywhere in an address. */
function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}
