import { crc32 } from 'node:zlib'
import { fileRejected } from './file-rejected.ts'

/** Bytes of a path in an archive, and of each part of it: what file systems take. */
const nameBytesMax = 1_024
const partBytesMax = 255

/** Folders, one within the other, and the file in the innermost. */
const depthMax = 32

/** Text that UTF-8 does not allow is refused, and a byte order mark belongs to the name. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

const backslash = 0x5c

/** A name as the directory of an archive has it. */
export interface RawName {
  readonly bytes: Uint8Array
  /** Whether the entry says that these bytes are UTF-8 (bit 11 of its flags). */
  readonly isUtf8: boolean
  /** Further fields of the entry by their ids. */
  readonly extraFields: readonly { readonly id: number; readonly data: Buffer }[]
}

/**
 * The name of an entry.
 *
 * Without its mark, bytes may be of any character set. What is UTF-8 is read as such, because hardly
 * anything else is by accident; nothing else is guessed at. Some writers keep the name a second time, as
 * UTF-8 (Info-ZIP, field 0x7075), which counts as long as it was made for the first one.
 *
 * @throws DomainError `file_rejected`
 */
export function nameOf({ bytes, isUtf8, extraFields }: RawName): string {
  const first = decoded(bytes)
  const second = extraFields.find(({ id, data }) => id === 0x7075 && belongsTo(bytes, data))
  if (!second) {
    if (first === undefined) {
      throw fileRejected('its name is not UTF-8', Buffer.from(bytes).toString('latin1'))
    }
    return checked(first, bytes)
  }
  const inUtf8 = second.data.subarray(5)
  const name = decoded(inUtf8)
  if (name === undefined) throw fileRejected('its name is not UTF-8', first ?? '?')
  if (isUtf8 && name !== first) throw fileRejected('it has two names', name)
  return checked(name, inUtf8)
}

/** Version 1, and the CRC of the name that it was made for (APPNOTE.TXT, 4.6.9). */
function belongsTo(bytes: Uint8Array, field: Buffer): boolean {
  return field.length >= 5 && field[0] === 1 && field.readUInt32LE(1) === crc32(bytes)
}

function decoded(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}

/** @throws DomainError `file_rejected` for a name that is no path within a folder on every system */
function checked(name: string, bytes: Uint8Array): string {
  const refuse = (reason: string) => fileRejected(reason, name)
  if (bytes.length === 0) throw refuse('it has no name')
  if (bytes.length > nameBytesMax) throw refuse(`its name has more than ${nameBytesMax} bytes`)
  if (bytes.includes(backslash)) throw refuse('its name has a backslash')
  if (/\p{Cc}/u.test(name)) throw refuse('its name has control characters')
  if (name.startsWith('/')) throw refuse('its path is absolute')
  if (/^[a-z]:/i.test(name)) throw refuse('its path begins with a drive')
  const parts = (name.endsWith('/') ? name.slice(0, -1) : name).split('/')
  if (parts.length > depthMax) throw refuse(`its path is deeper than ${depthMax}`)
  for (const part of parts) {
    if (part === '..') throw refuse('its path leads out of the archive')
    if (part === '' || part === '.') throw refuse('its path has a part that is empty or a dot')
    if (Buffer.byteLength(part) > partBytesMax) {
      throw refuse(`a part of its path has more than ${partBytesMax} bytes`)
    }
  }
  return name
}

/**
 * The places that the entries of one archive have. Two that a file system may take for one are refused:
 * some keep names in another form of Unicode, and some do not tell capital letters from small ones.
 */
export class EntryPlaces {
  readonly #files = new Set<string>()
  /** How each folder is spelled. */
  readonly #folders = new Map<string, string>()

  /**
   * @param name as `nameOf` gives it; that of a folder ends with `/`
   * @throws DomainError `file_rejected`
   */
  add(name: string): void {
    const parts = name.split('/')
    const folded = foldedName(name).split('/')
    // What comes after the last slash is a file, and nothing where the name is that of a folder.
    for (let depth = 1; depth < parts.length; depth++) {
      this.#addFolder(parts.slice(0, depth).join('/'), folded.slice(0, depth).join('/'), name)
    }
    if (name.endsWith('/')) return
    const key = folded.join('/')
    if (this.#files.has(key)) throw fileRejected('another entry has the same name', name)
    if (this.#folders.has(key)) throw fileRejected('a folder has the same name', name)
    this.#files.add(key)
  }

  #addFolder(spelled: string, key: string, name: string): void {
    const known = this.#folders.get(key)
    if (known === spelled) return
    if (known !== undefined) throw fileRejected('another entry spells its folder differently', name)
    if (this.#files.has(key)) throw fileRejected('a file has the name of its folder', name)
    this.#folders.set(key, spelled)
  }
}

/** Capital letters first, because that is what makes one of ß and ss, and of the two small sigmas. */
function foldedName(name: string): string {
  return name.normalize('NFC').toUpperCase().toLowerCase().normalize('NFC')
}
