/** Style sheets are imported for their effect: Vite puts them beside the scripts. */
declare module '*.css'
