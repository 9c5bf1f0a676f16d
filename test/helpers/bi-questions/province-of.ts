const provinces = ['浙江', '江苏', '上海', '北京', '广东', '四川', '湖北', '山东', '内蒙古'] as const

/** Of the places that the emulator knows. */
export function provinceOf(address: string | null): string {
  return provinces.find((province) => address?.startsWith(province)) ?? '(unknown)'
}
