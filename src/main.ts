import { enableCompileCache } from 'node:module'
import { join } from 'node:path'

// Type stripping and compiling are done once, and not at every start in every thread: that saves time
// and memory. Everything else is imported after this, and the threads find the cache by its variable.
const cache = join(import.meta.dirname, '..', 'node_modules', '.cache', 'streamvault')
process.env['NODE_COMPILE_CACHE'] ??= cache
enableCompileCache(process.env['NODE_COMPILE_CACHE'])

// Work that leaves the JavaScript threads is DuckDB's, which has one writer, and a few queries; every
// thread more is an allocator's arena more.
process.env['UV_THREADPOOL_SIZE'] ??= '2'

const { main } = await import('./cli/main.ts')
await main(process.argv.slice(2))
