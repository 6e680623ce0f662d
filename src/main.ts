import { enableCompileCache } from 'node:module'
import { join } from 'node:path'

// Type stripping and compiling are done once, and not at every start in every thread: that saves time
// and memory. Everything else is imported after this, and the threads find the cache by its variable.
const cache = join(import.meta.dirname, '..', 'node_modules', '.cache', 'streamvault')
process.env['NODE_COMPILE_CACHE'] ??= cache
enableCompileCache(process.env['NODE_COMPILE_CACHE'])

// Work that leaves the JavaScript threads is DuckDB's: one thread for what writes, and two for queries
// (`queryLimits`), so that slow ones do not keep readings from being stored. Every thread more is an
// allocator's arena more.
process.env['UV_THREADPOOL_SIZE'] ??= '3'

const { main } = await import('./cli/main.ts')
await main(process.argv.slice(2))
