type List = (string | null | List)[]

/**
 * Reads the text form of an array (PostgreSQL, 8.15.6): `{1,NULL,"a \"b\""}`, with lists in lists, and bounds such
 * as `[0:1]=` before it, which are left out.
 *
 * @throws Error for what is no such text
 */
export function parseArray(text: string): List {
  const whole: List = []
  const open: List[] = [whole]
  let at = text.indexOf('{')
  while (at >= 0 && at < text.length) {
    const list = open.at(-1)
    if (!list) break
    const sign = text[at]
    if (sign === '{') {
      const inner: List = []
      list.push(inner)
      open.push(inner)
      at++
    } else if (sign === '}') {
      open.pop()
      at++
    } else if (sign === ',') at++
    else at = readMember(text, at, list)
  }
  const [list] = whole
  if (!Array.isArray(list) || open.length !== 1) throw new Error('an array could not be read')
  return list
}

const memberPattern = /"((?:[^"\\]|\\.)*)"|([^,{}"]+)/sy

function readMember(text: string, at: number, list: List): number {
  memberPattern.lastIndex = at
  const [found, inQuotes, plain = ''] = memberPattern.exec(text) ?? []
  if (found === undefined) throw new Error('an array could not be read')
  if (inQuotes !== undefined) list.push(inQuotes.replaceAll(/\\(.)/gs, '$1'))
  else list.push(plain === 'NULL' ? null : plain)
  return at + found.length
}
