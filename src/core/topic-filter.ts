/** Whether one filter matches all that another does. */
export function covers(wide: string, narrow: string): boolean {
  const levels = narrow.split('/')
  const wanted = wide.split('/')
  for (const [index, level] of wanted.entries()) {
    if (level === '#') return levels.length >= index
    const other = levels[index]
    if (other === undefined || other === '#') return false
    if (level !== '+' && level !== other) return false
  }
  return wanted.length === levels.length
}
