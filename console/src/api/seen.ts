/**
 * Does something this much later, when the page is seen: what is hidden asks for nothing, and shows what is
 * new as soon as somebody looks. The answer keeps it from being done.
 */
export function laterWhenSeen(ms: number, deed: () => void): () => void {
  const tried = () => {
    if (document.hidden) return
    document.removeEventListener('visibilitychange', tried)
    deed()
  }
  const timer = setTimeout(() => {
    if (document.hidden) document.addEventListener('visibilitychange', tried)
    else deed()
  }, ms)
  return () => {
    clearTimeout(timer)
    document.removeEventListener('visibilitychange', tried)
  }
}
