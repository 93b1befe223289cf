// Economic event codes: Mainland China.

/** Code to what it means (spec 2.9). */
export const cnEventCodes: Readonly<Record<string, string>> = {
  GDP_GROWTH_RATE_QOQ: 'Real gross domestic product: growth over the quarter before.',
  GDP_GROWTH_RATE_YOY: 'Real gross domestic product: growth over the same quarter of the year before.',
  GDP_GROWTH_RATE_YTD_YOY:
    'Real gross domestic product since the year began: growth over the same months of the year before.',
  INFLATION_RATE_HEADLINE_YOY: 'Consumer prices: change over a year.',
  INFLATION_RATE_HEADLINE_MOM: 'Consumer prices: change over the month before.',
  INFLATION_RATE_CORE_YOY: 'Consumer prices without food and energy: change over a year.',
  INFLATION_PPI_HEADLINE_YOY: 'Producer prices: change over a year.',
  EMPLOYMENT_UNEMPLOYMENT_RATE: 'Share of the labour force in towns that is without work, by survey.',
  CONSUMPTION_RETAIL_SALES_HEADLINE_YOY: 'Retail sales of consumer goods: change over a year.',
  CONSUMPTION_VEHICLE_SALES_YOY:
    'Vehicles sold, by the Association of Automobile Manufacturers: change over a year.',
  BUSINESS_PMI_MANUFACTURING_NBS:
    "The National Bureau of Statistics' survey of purchasing managers in manufacturing; above 50 they report growth.",
  BUSINESS_PMI_NON_MANUFACTURING_NBS:
    "The National Bureau of Statistics' survey of purchasing managers in services and construction; above 50 they report growth.",
  BUSINESS_PMI_COMPOSITE_NBS:
    "The National Bureau of Statistics' survey of purchasing managers in all branches; above 50 they report growth.",
  BUSINESS_PMI_MANUFACTURING_SP_GLOBAL:
    "S&P Global's survey of purchasing managers in manufacturing, of smaller and exporting companies too; above 50 they report growth.",
  BUSINESS_PMI_SERVICES_SP_GLOBAL:
    "S&P Global's survey of purchasing managers in services; above 50 they report growth.",
  BUSINESS_INDUSTRIAL_PRODUCTION_YOY: 'Output of larger industrial companies: change over a year.',
  BUSINESS_INDUSTRIAL_PROFITS_YTD_YOY:
    'Profits of larger industrial companies since the year began: change over a year.',
  BUSINESS_FIXED_ASSET_INVESTMENT_YTD_YOY:
    'Investment in fixed assets since the year began, farms not counted: change over a year.',
  BUSINESS_FOREIGN_DIRECT_INVESTMENT_YTD_YOY:
    'Foreign direct investment used since the year began: change over a year.',
  HOUSING_PRICE_INDEX_YOY: 'Prices of new homes in seventy cities: change over a year.',
  HOUSING_PRICE_INDEX_MOM: 'Prices of new homes in seventy cities: change over the month before.',
  HOUSING_PROPERTY_INVESTMENT_YTD_YOY:
    'Investment in property development since the year began: change over a year.',
  TRADE_BALANCE: 'Exports of goods less imports in the month, in US dollars.',
  TRADE_EXPORTS_YOY: 'Exports of goods in US dollars: change over a year.',
  TRADE_IMPORTS_YOY: 'Imports of goods in US dollars: change over a year.',
  TRADE_CURRENT_ACCOUNT: 'Trade, income and transfers with the rest of the world in the quarter.',
  BONDS_AUCTION_GOVERNMENT_BOND_10Y:
    'Auction of 10-year central government bonds: the average accepted yield.',
  POLITICAL_EVENT_NATIONAL_PEOPLES_CONGRESS:
    "Yearly session of the National People's Congress, with the government's targets.",
  POLITICAL_EVENT_POLITBURO_MEETING: 'Meeting of the Politburo on the economy.',
  POLITICAL_EVENT_CENTRAL_ECONOMIC_WORK_CONFERENCE:
    'The yearly meeting that sets economic policy for the year ahead.',
  PBOC_POLICY_LOAN_PRIME_RATE_1Y: 'Rate at which banks lend to their best customers for a year.',
  PBOC_POLICY_LOAN_PRIME_RATE_5Y:
    'Rate at which banks lend to their best customers for five years, on which mortgages are based.',
  PBOC_POLICY_INTEREST_RATE_DECISION:
    "The People's Bank of China's rate for seven-day reverse repos, its policy rate.",
  PBOC_POLICY_MEDIUM_TERM_LENDING_FACILITY:
    "The People's Bank of China's one-year loans to banks: amount or rate.",
  PBOC_POLICY_RESERVE_REQUIREMENT_RATIO:
    "Share of deposits that banks must hold with the People's Bank of China.",
  PBOC_POLICY_NEW_LOANS: 'New loans of banks in yuan, in the month.',
  PBOC_POLICY_TOTAL_SOCIAL_FINANCING: 'All new credit to companies and households, in the month.',
  PBOC_POLICY_MONEY_SUPPLY_M2_YOY: 'Money supply (M2): change over a year.',
  PBOC_POLICY_FOREIGN_EXCHANGE_RESERVES: 'Foreign exchange reserves at the end of the month.',
  PBOC_SPEECH_GOVERNOR: "Speech of the Governor of the People's Bank of China.",
};
