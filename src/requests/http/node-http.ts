/**
 * Node's own HTTP, for what is needed of it by value. An `import` of it would evaluate all that it
 * exports, the client of `fetch` among it: 40 ms and some megabytes at each start, for nothing.
 */
export const nodeHttp = process.getBuiltinModule('node:http')
