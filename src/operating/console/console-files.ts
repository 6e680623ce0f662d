import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { extname, join, relative, sep } from 'node:path'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { productFolder } from '../../config/product-version.ts'
import type { FileCoding } from './accepted-coding.ts'

/** Where `scripts/build-console.js` puts what it has built of the project in this folder. */
export function builtFolderIn(root: string): string {
  return join(root, 'node_modules', '.cache', 'console')
}

/** Says what the rest was built from; written last. */
const stampName = 'stamp.json'

/** More files are none of a page: somebody has put something else there. They are kept in memory. */
const filesMax = 500

/** As many bytes, compressed forms included: a hundred times the first page. */
const bytesMax = 16 * 1024 * 1024

/** Endings of the compressed forms that stand beside a file. */
const codings: Readonly<Record<string, FileCoding>> = { '.br': 'br', '.gz': 'gzip' }

const mediaTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.json': 'application/json',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
}

/** Whether a path ends like a file of a page, and not like the name of something that a page shows. */
export function isFileName(path: string): boolean {
  const ending = extname(path).toLowerCase()
  return ending in mediaTypes || ending === '.map' || ending in codings
}

/** A file of the console, in the forms in which it can be sent. */
export interface ConsoleFile {
  readonly mediaType: string
  readonly etag: string
  readonly has: (coding: FileCoding) => boolean
  readonly read: (coding: FileCoding) => Promise<Buffer>
}

export type BuiltFiles = ReadonlyMap<string, ConsoleFile>

/**
 * The built files, by their paths. All of them are read when the first is asked for, and kept: a page goes on to fit the
 * files that it names, when others are built while the service runs. Where nothing is built yet, that is looked for
 * anew each time.
 */
export class ConsoleFiles {
  readonly #folder: string
  #reading: Promise<BuiltFiles> | undefined

  constructor(folder = builtFolderIn(productFolder())) {
    this.#folder = folder
  }

  /** Undefined where nothing is built. @throws Error when it cannot be read */
  async all(): Promise<BuiltFiles | undefined> {
    this.#reading ??= readBuilt(this.#folder)
    try {
      return await this.#reading
    } catch (error) {
      this.#reading = undefined
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      throw error
    }
  }
}

async function readBuilt(folder: string): Promise<BuiltFiles> {
  const stamp = await readFile(join(folder, stampName), 'utf8')
  const files = await readFiles(folder)
  // Another build has taken the place of the one that was begun to be read.
  if ((await readFile(join(folder, stampName), 'utf8')) !== stamp) return readBuilt(folder)
  return files
}

async function readFiles(folder: string): Promise<BuiltFiles> {
  const forms = new Map<string, Map<FileCoding, Buffer>>()
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries.filter((entry) => entry.isFile() && entry.name !== stampName)
  if (paths.length > filesMax) throw new Error(`there are more than ${filesMax} files in ${folder}`)
  let bytes = 0
  for (const { parentPath, name } of paths) {
    const content = await readFile(join(parentPath, name))
    bytes += content.length
    if (bytes > bytesMax) throw new Error(`there are more than ${bytesMax} bytes in ${folder}`)
    const coding = codings[extname(name)]
    const plain = coding === undefined ? name : name.slice(0, -extname(name).length)
    const path = relative(folder, join(parentPath, plain)).replaceAll(sep, '/')
    const ofPath = forms.get(path) ?? new Map<FileCoding, Buffer>()
    forms.set(path, ofPath.set(coding ?? 'identity', content))
  }
  return new Map([...forms].map(([path, ofPath]) => [path, fileOf(path, ofPath)]))
}

const decompress = promisify(gunzip)

/** What is there compressed is kept only so: hardly anybody wants it otherwise. */
function fileOf(path: string, forms: ReadonlyMap<FileCoding, Buffer>): ConsoleFile {
  const plain = forms.get('identity')
  if (plain === undefined) throw new Error(`${path} is there in compressed forms only`)
  const zipped = forms.get('gzip')
  const kept = new Map(
    zipped === undefined ? forms : [...forms].filter(([, form]) => form !== plain),
  )
  return {
    mediaType: mediaTypes[extname(path).toLowerCase()] ?? 'application/octet-stream',
    // All forms mean the same, and only that is said of them.
    etag: `W/"${createHash('sha256').update(plain).digest('base64url').slice(0, 27)}"`,
    has: (coding) => coding === 'identity' || kept.has(coding),
    async read(coding) {
      const form = kept.get(coding)
      if (form !== undefined) return form
      return zipped === undefined ? plain : await decompress(zipped)
    },
  }
}
