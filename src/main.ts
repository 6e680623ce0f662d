// Work that leaves the JavaScript threads is DuckDB's: one thread for what writes, and two for queries
// (`queryLimits`), so that slow ones do not keep readings from being stored. Every thread more is an
// allocator's arena more.
process.env['UV_THREADPOOL_SIZE'] ??= '3'

const { main } = await import('./cli/main.ts')
await main(process.argv.slice(2))
